<?php
function connect(array $servers): Memcached
{
    // A client that persists with its connections between the requests that PHP-FPM serves.
    $cache = new Memcached('shop');
    if ($cache->isPristine()) {
        $cache->setOptions([
            Memcached::OPT_LIBKETAMA_COMPATIBLE => true, // hashes by the names of the servers
            Memcached::OPT_RETRY_TIMEOUT => -1,          // with 2, the default, a server that closes is left out for 2 s
            Memcached::OPT_CONNECT_TIMEOUT => 500,       // milliseconds
            Memcached::OPT_POLL_TIMEOUT => 500,          // milliseconds
            Memcached::OPT_RECV_TIMEOUT => 500_000,      // microseconds
            Memcached::OPT_SEND_TIMEOUT => 500_000,
        ]);
        // ['shop-0.team.svc:11211', ...]
        $cache->addServers(array_map(fn ($server) => explode(':', $server), $servers));
    }
    return $cache;
}
