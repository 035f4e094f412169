import Memcached from 'memcached';
import { createRequire } from 'node:module';

export const version = `memcached ${createRequire(import.meta.url)('memcached/package.json').version}`;

export function connect(servers) {
  const client = new Memcached(
    servers, // ['shop-0.shop-slots.team.svc:11211', ...]
    {
      timeout: 500, // of a connection, in milliseconds
      retries: 0, // of a connection within one request: by default the request waits for seconds
      failures: 1e9, // A slot comes back: its server is never given up.
      retry: 1,
    },
  );

  // The library waits without an end for the answer of a Pod whose Node has failed. New connections end that.
  const within = (milliseconds, request) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        for (const server of Object.values(client.connections)) server.free(0, true);
        client.connections = {};
        reject(new Error('memcached does not answer'));
      }, milliseconds);
      request((error, value) => {
        clearTimeout(timer);
        if (error) reject(error);
        else resolve(value);
      });
    });
  return {
    get: (key) => within(500, (done) => client.get(key, done)),
    set: (key, value) => within(500, (done) => client.set(key, value, 300, done)), // seconds
  };
}
