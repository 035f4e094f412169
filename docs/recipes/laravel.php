<?php

// config/cache.php
return [
    'default' => 'memcached',
    'prefix' => 'shop-',
    'stores' => [
        'memcached' => [
            'driver' => 'memcached',
            'persistent_id' => 'shop',
            'options' => [
                Memcached::OPT_LIBKETAMA_COMPATIBLE => true, // hashes by the names of the servers
                Memcached::OPT_RETRY_TIMEOUT => -1,          // with 2, the default, a server that closes is left out for 2 s
                Memcached::OPT_CONNECT_TIMEOUT => 500,       // milliseconds
                Memcached::OPT_POLL_TIMEOUT => 500,          // milliseconds
            ],
            'servers' => [
                ['host' => 'shop-0.team.svc', 'port' => 11211, 'weight' => 1],
                ['host' => 'shop-1.team.svc', 'port' => 11211, 'weight' => 1],
                ['host' => 'shop-2.team.svc', 'port' => 11211, 'weight' => 1],
            ],
        ],
    ],
];
