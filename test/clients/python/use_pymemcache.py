import pymemcache

VERSION = "pymemcache " + pymemcache.__version__


def connect(servers):
    return pymemcache.HashClient(
        servers,  # ["shop-0.shop-slots.team.svc:11211", ...]
        connect_timeout=0.5,
        timeout=0.5,
        retry_timeout=0,
        retry_attempts=10**9,  # A slot comes back, so no other server may get its keys.
        use_pooling=True,
    )
