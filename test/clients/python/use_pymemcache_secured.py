import ssl

import pymemcache

VERSION = "pymemcache " + pymemcache.__version__


def connect(servers, ca, user, password):
    login = f"{user} {password}".encode()

    class Client(pymemcache.Client):
        """Logs in with the first command of each connection."""

        def _connect(self):
            super()._connect()
            self.sock.sendall(b"set login 0 0 %d\r\n%b\r\n" % (len(login), login))
            if self.sock.recv(100) != b"STORED\r\n":
                self.close()
                raise pymemcache.MemcacheServerError("memcached refuses the login")

    class Secured(pymemcache.HashClient):
        client_class = Client

    return Secured(
        servers,  # ["shop-0.shop-slots.team.svc:11212", ...]: these names are in the certificate
        tls_context=ssl.create_default_context(cafile=ca),
        connect_timeout=0.5,
        timeout=0.5,
        retry_timeout=0,
        retry_attempts=10**9,  # A slot comes back, so no other server may get its keys.
        use_pooling=True,
    )
