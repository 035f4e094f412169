"""Prints which server two real clients choose for each of 10,000 keys, a character a key.

    owners.py libmemcached 5 11211 >operator/clienthash/testdata/Ketama-5-11211.txt
    owners.py pymemcache 5 11211 >operator/clienthash/testdata/Rendezvous-5-11211.txt

It needs no server: libmemcached (Debian's libmemcached11) and pymemcache (python3-pymemcache) only choose.
What clients in Go choose is compared by a test in recipes.
"""

import ctypes
import string
import sys

KEYS = [f"user:{n}:profile" for n in range(10000)]
DIGITS = string.digits + string.ascii_letters


def libmemcached(servers):
    library = ctypes.CDLL("libmemcached.so.11")
    for name in ("memcached_create", "memcached_server_by_key"):
        getattr(library, name).restype = ctypes.c_void_p
    library.memcached_server_name.restype = ctypes.c_char_p
    client = ctypes.c_void_p(library.memcached_create(None))
    ketama_weighted = 16  # enum memcached_behavior_t
    if library.memcached_behavior_set(client, ketama_weighted, ctypes.c_uint64(1)) != 0:
        sys.exit("libmemcached refuses the behavior")
    for host, port in servers:
        library.memcached_server_add(client, host.encode(), port)
    hosts = [host for host, _ in servers]

    def choose(key):
        status = ctypes.c_int()
        instance = library.memcached_server_by_key(client, key.encode(), ctypes.c_size_t(len(key)), ctypes.byref(status))
        return hosts.index(library.memcached_server_name(ctypes.c_void_p(instance)).decode())

    return choose


def pymemcache(servers):
    from pymemcache.client.hash import HashClient

    client = HashClient(servers)
    nodes = [f"{host}:{port}" for host, port in servers]
    return lambda key: nodes.index(client.hasher.get_node(key))


def main():
    client, count, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    servers = [(f"shop-{n}.shop-slots.team.svc", port) for n in range(count)]
    choose = {"libmemcached": libmemcached, "pymemcache": pymemcache}[client](servers)
    owners = "".join(DIGITS[choose(key)] for key in KEYS)
    print("\n".join(owners[i : i + 100] for i in range(0, len(owners), 100)))


main()
