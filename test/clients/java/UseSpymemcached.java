import java.io.IOException;
import java.util.List;
import net.spy.memcached.AddrUtil;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.ConnectionFactoryBuilder.Locator;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.FailureMode;
import net.spy.memcached.MemcachedClient;

class UseSpymemcached {
    static MemcachedClient connect(List<String> servers) throws IOException {
        return new MemcachedClient(new ConnectionFactoryBuilder()
            .setProtocol(Protocol.TEXT)
            .setLocatorType(Locator.CONSISTENT)
            .setHashAlg(DefaultHashAlgorithm.KETAMA_HASH)
            .setFailureMode(FailureMode.Cancel) // A slot comes back, so no other server may get its keys.
            .setMaxReconnectDelay(0)            // seconds; with 30, the default, or 1, requests fail in that time
            .setOpTimeout(500)                  // milliseconds
            .build(), AddrUtil.getAddresses(servers)); // ["shop-0.team.svc:11211", ...]
    }
}
