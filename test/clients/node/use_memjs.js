import memjs from 'memjs';
import { createRequire } from 'node:module';

export const version = `memjs ${createRequire(import.meta.url)('memjs/package.json').version}`;

export function connect(servers) {
  const client = memjs.Client.create(
    servers.join(','), // 'shop-0.shop-slots.team.svc:11211,...'
    { timeout: 0.5, conntimeout: 0.5, failover: false, logger: { log() {} } },
  );
  return {
    get: async (key) => (await client.get(key)).value,
    set: (key, value) => client.set(key, value, { expires: 300 }), // seconds
  };
}
