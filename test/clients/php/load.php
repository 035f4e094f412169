<?php
// Uses the client as an application would, and prints each second what it saw, as a line of JSON.
require __DIR__ . '/use_' . getenv('CLIENT') . '.php';

const NOTHING = ['reads' => 0, 'misses' => 0, 'errors' => 0, 'wrong' => 0, 'longest' => 0, 'error' => ''];
$seen = NOTHING;

function timed(callable $call, Memcached $cache): mixed
{
    global $seen;
    $start = hrtime(true);
    $result = $call();
    $seen['longest'] = max($seen['longest'], (int) round((hrtime(true) - $start) / 1e6));
    if (!in_array($cache->getResultCode(), [Memcached::RES_SUCCESS, Memcached::RES_NOTFOUND])) {
        $seen['errors']++;
        $seen['error'] = $cache->getResultMessage();
    }
    return $result;
}

// Reads a key and, if it is missing, stores it.
function read(Memcached $cache, string $key): void
{
    global $seen;
    $value = timed(fn () => $cache->get($key), $cache);
    $code = $cache->getResultCode();
    $seen['reads']++;
    if ($code === Memcached::RES_NOTFOUND) {
        $seen['misses']++;
        timed(fn () => $cache->set($key, "value of $key"), $cache);
    } elseif ($code === Memcached::RES_SUCCESS && $value !== "value of $key") {
        $seen['wrong']++;
    }
}

function report(array $more = []): void
{
    global $seen;
    echo json_encode(['at' => microtime(true)] + $seen + $more), "\n";
    $seen = NOTHING;
}

$cache = connect(explode(' ', getenv('SERVERS')));
$keys = array_map(fn ($i) => getenv('NAME') . "-k$i", range(0, 499));
// The second round stores the keys that the first one failed to store.
foreach ([...$keys, ...$keys] as $key) {
    read($cache, $key);
}
$version = 'memcached ' . phpversion('memcached') . ', PHP ' . PHP_VERSION;
report(['start' => true, 'version' => $version]);
for ($reported = microtime(true);; usleep(10_000)) {
    read($cache, $keys[array_rand($keys)]);
    if (microtime(true) - $reported >= 1) {
        report();
        $reported = microtime(true);
    }
}
