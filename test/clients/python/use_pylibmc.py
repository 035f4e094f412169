import pylibmc

VERSION = f"pylibmc {pylibmc.__version__}, libmemcached {pylibmc.libmemcached_version}"


def connect(servers):
    return pylibmc.Client(
        servers,  # ["shop-0.team.svc:11211", ...]
        behaviors={
            "ketama_weighted": True,  # by the names of the servers
            "retry_timeout": -1,  # With 2, the default, a server that closes is left out for 2 s.
            "connect_timeout": 500,  # milliseconds
            "receive_timeout": 500_000,  # microseconds
            "send_timeout": 500_000,
            "_poll_timeout": 500,  # milliseconds
        },
    )
