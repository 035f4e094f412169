from importlib.metadata import version

from oslo_cache import core
from oslo_config import cfg

VERSION = f"oslo.cache {version('oslo.cache')}, dogpile.cache {version('dogpile.cache')}"


def connect(servers):
    conf = cfg.ConfigOpts()
    core.configure(conf)
    # The section [cache] of keystone.conf, nova.conf, neutron.conf and so on:
    for name, value in {
        "enabled": True,
        "backend": "dogpile.cache.pymemcache",
        "memcache_servers": servers,  # shop-0.shop-slots.team.svc:11211,...
        "memcache_socket_timeout": 0.5,
        "enable_retry_client": True,
        "retry_attempts": 2,
        "retry_delay": 0.1,
        "hashclient_retry_attempts": 10**9,  # A slot comes back, so no other server may get its keys.
    }.items():
        conf.set_override(name, value, group="cache")
    return core.configure_cache_region(conf, core.create_region())
