import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import net.spy.memcached.MemcachedClient;

/** Uses the client as an application would, and prints each second what it saw, as a line of JSON. */
public class Load {
    private static final String NAME = System.getenv("NAME");

    private final MemcachedClient cache;
    private long reads, misses, errors, wrong, longest;
    private String error = "";

    Load(MemcachedClient cache) {
        this.cache = cache;
    }

    public static void main(String[] arguments) throws Exception {
        Load load = new Load(UseSpymemcached.connect(List.of(System.getenv("SERVERS").split(" "))));
        List<String> keys = IntStream.range(0, 500).mapToObj(i -> NAME + "-k" + i).toList();
        keys.forEach(load::read);
        keys.forEach(load::read); // What failed the first time is stored now.
        load.report(String.format(", \"start\": true, \"version\": \"spymemcached %s, Java %s\"",
            Files.readString(Path.of("java/VERSION")), Runtime.version().feature()));
        for (long reported = System.nanoTime();; Thread.sleep(10)) {
            load.read(keys.get(ThreadLocalRandom.current().nextInt(keys.size())));
            if (System.nanoTime() - reported >= 1_000_000_000) {
                load.report("");
                reported = System.nanoTime();
            }
        }
    }

    /** Reads a key and, if it is missing, stores it. */
    private void read(String key) {
        Object value = timed(() -> cache.get(key));
        reads++;
        if (value instanceof Exception) {
            return;
        }
        if (value == null) {
            misses++;
            timed(() -> cache.set(key, 300, "value of " + key).get(500, TimeUnit.MILLISECONDS));
        } else if (!value.equals("value of " + key)) {
            wrong++;
        }
    }

    private Object timed(Callable<Object> call) {
        long start = System.nanoTime();
        try {
            return call.call();
        } catch (Exception e) {
            errors++;
            error = e.toString();
            return e;
        } finally {
            longest = Math.max(longest, (System.nanoTime() - start) / 1_000_000);
        }
    }

    private void report(String more) {
        System.out.printf(Locale.ROOT, "{\"at\": %.3f, \"reads\": %d, \"misses\": %d, \"errors\": %d, \"wrong\": %d, "
            + "\"longest\": %d, \"error\": \"%s\"%s}%n", System.currentTimeMillis() / 1000.0, reads, misses, errors, wrong,
            longest, error.replaceAll("[\"\\\\\\n]", " "), more);
        reads = misses = errors = wrong = longest = 0;
        error = "";
    }
}
