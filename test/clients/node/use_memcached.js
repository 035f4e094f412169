import Memcached from 'memcached';
import { promisify } from 'node:util';
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
      maxTimeout: 500,
      minTimeout: 100,
    },
  );
  return {
    get: promisify(client.get.bind(client)),
    set: (key, value) => promisify(client.set.bind(client))(key, value, 300), // seconds
  };
}
