# settings.py
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
        "LOCATION": [
            "shop-0.shop-slots.team.svc:11211",
            "shop-1.shop-slots.team.svc:11211",
            "shop-2.shop-slots.team.svc:11211",
        ],
        "OPTIONS": {
            "connect_timeout": 0.5,
            "timeout": 0.5,
            "retry_timeout": 0,
            "retry_attempts": 10**9,  # A slot comes back, so no other server may get its keys.
            "use_pooling": True,
            "ignore_exc": True,  # An error is a miss.
        },
    }
}
