import Memcached from 'memcached-elasticache';
import { createRequire } from 'node:module';

export const version = `memcached-elasticache ${createRequire(import.meta.url)('memcached-elasticache/package.json').version}`;

export async function connect([endpoint]) {
  const client = new Memcached(
    endpoint, // 'shop-discovery.team.svc:11211', of status.discoveryEndpoint
    {
      autoDiscoverInterval: 1000, // in milliseconds: how often to request the list, 60 s by default
      timeout: 500, // of a connection, in milliseconds
      retries: 0, // of a connection within one request: by default the request waits for seconds
      failures: 1e9, // A slot comes back: its server is never given up.
      retry: 1,
    },
  );
  // Until it has a list, it sends all requests to the endpoint, which serves no keys.
  await new Promise((done) => client.once('autoDiscover', done));

  // The library waits without an end for the answer of a Pod whose Node has failed. New connections end that.
  const within = (milliseconds, request) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const servers = client._innerClient; // of the present list
        for (const server of Object.values(servers.connections)) server.free(0, true);
        servers.connections = {};
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
