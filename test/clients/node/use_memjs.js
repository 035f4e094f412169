import memjs from 'memjs';
import { createRequire } from 'node:module';

export const version = `memjs ${createRequire(import.meta.url)('memjs/package.json').version}`;

export function connect(servers) {
  const open = () =>
    memjs.Client.create(
      servers.join(','), // 'shop-0.shop-slots.team.svc:11211,...'
      { timeout: 0.3, conntimeout: 0.3, retries: 2, failover: false, logger: { log() {} } }, // seconds
    );
  let client = open();

  // The library may wait without an end for a Pod that was killed. A new client ends that.
  const within = (milliseconds, request) => {
    let timer;
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => {
        client.close();
        client = open();
        reject(new Error('memcached does not answer'));
      }, milliseconds);
    });
    return Promise.race([request(), limit]).finally(() => clearTimeout(timer));
  };
  return {
    get: async (key) => (await within(900, () => client.get(key))).value,
    set: (key, value) => within(900, () => client.set(key, value, { expires: 300 })), // seconds
  };
}
