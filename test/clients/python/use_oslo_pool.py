from importlib.metadata import version

from oslo_cache import core
from oslo_config import cfg

VERSION = f"oslo.cache {version('oslo.cache')}, python-memcached {version('python-memcached')}"


def connect(servers):
    conf = cfg.ConfigOpts()
    core.configure(conf)
    # The section [cache] of keystone.conf, nova.conf, neutron.conf and so on:
    for name, value in {
        "enabled": True,
        "backend": "oslo_cache.memcache_pool",
        "memcache_servers": servers,  # shop-0.team.svc:11211,...
        "memcache_socket_timeout": 0.5,
        "memcache_dead_retry": 0,  # Seconds; 300 by default, in which other servers get the keys.
    }.items():
        conf.set_override(name, value, group="cache")
    return core.configure_cache_region(conf, core.create_region())
