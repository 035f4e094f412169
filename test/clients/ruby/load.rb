# Uses a client as an application would, and prints each second what it saw, as a line of JSON.
require 'json'
require_relative "use_#{ENV.fetch('CLIENT')}"

$stdout.sync = true
KEYS = Array.new(500) { |i| "#{ENV.fetch('NAME')}-k#{i}" }

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def nothing = { reads: 0, misses: 0, errors: 0, wrong: 0, longest: 0, error: '' }

$seen = nothing

def timed
  start = now
  yield
rescue StandardError => e
  $seen[:errors] += 1
  $seen[:error] = e.inspect
  :failed
ensure
  $seen[:longest] = [$seen[:longest], (1000 * (now - start)).round].max
end

# Reads a key and, if it is missing, stores it.
def read(cache, key)
  value = timed { cache.get(key) }
  $seen[:reads] += 1
  if value.nil?
    $seen[:misses] += 1
    timed { cache.set(key, "value of #{key}") }
  elsif value != :failed && value != "value of #{key}"
    $seen[:wrong] += 1
  end
end

def report(more = {})
  puts JSON.generate({ at: Time.now.to_f, **$seen, **more })
  $seen = nothing
end

cache = connect(ENV.fetch('SERVERS').split, *[ENV['CA']].compact)
# The second round stores the keys that the first one failed to store.
[*KEYS, *KEYS].each { |key| read(cache, key) }
report(start: true, version: "dalli #{Dalli::VERSION}, Ruby #{RUBY_VERSION}")
reported = now
loop do
  read(cache, KEYS.sample)
  if now - reported >= 1
    report
    reported = now
  end
  sleep 0.01
end
