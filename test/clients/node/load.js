// Uses a client as an application would, and prints each second what it saw, as a line of JSON.
const { connect, version } = await import(`./use_${process.env.CLIENT}.js`);
const keys = Array.from({ length: 500 }, (_, i) => `${process.env.NAME}-k${i}`);
const nothing = () => ({ reads: 0, misses: 0, errors: 0, wrong: 0, longest: 0, error: '' });
let seen = nothing();

async function timed(call) {
  const start = performance.now();
  try {
    return await call();
  } catch (error) {
    seen.errors++;
    seen.error = String(error);
    return error ?? new Error('no reason');
  } finally {
    seen.longest = Math.max(seen.longest, Math.round(performance.now() - start));
  }
}

// Reads a key and, if it is missing, stores it.
async function read(cache, key) {
  const value = await timed(() => cache.get(key));
  seen.reads++;
  if (value instanceof Error) return;
  if (value === undefined || value === null) {
    seen.misses++;
    await timed(() => cache.set(key, `value of ${key}`));
  } else if (String(value) !== `value of ${key}`) {
    seen.wrong++;
  }
}

function report(more = {}) {
  console.log(JSON.stringify({ at: Date.now() / 1000, ...seen, ...more }));
  seen = nothing();
}

const cache = await connect(process.env.SERVERS.split(' '));
// The second round stores the keys that the first one failed to store.
for (const key of [...keys, ...keys]) await read(cache, key);
report({ start: true, version: `${version}, Node.js ${process.versions.node}` });
for (let reported = performance.now(); ; await new Promise((done) => setTimeout(done, 10))) {
  await read(cache, keys[Math.floor(Math.random() * keys.length)]);
  if (performance.now() - reported >= 1000) {
    report();
    reported = performance.now();
  }
}
