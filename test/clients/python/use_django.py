import django
from django.conf import settings

VERSION = "Django " + django.get_version()


def connect(servers):
    # In settings.py:
    settings.configure(
        CACHES={
            "default": {
                "BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
                "LOCATION": servers,  # ["shop-0.shop-slots.team.svc:11211", ...]
                "OPTIONS": {
                    "connect_timeout": 0.5,
                    "timeout": 0.5,
                    "retry_timeout": 0,
                    "retry_attempts": 10**9,  # A slot comes back, so no other server may get its keys.
                },
            }
        }
    )
    from django.core.cache import cache

    return cache
