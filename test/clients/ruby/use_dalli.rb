require 'dalli'

# In Rails: config.cache_store = :mem_cache_store, *servers, { protocol: :meta, ... }
def connect(servers)
  Dalli::Client.new(
    servers, # ['shop-0.shop-slots.team.svc:11211', ...]
    protocol: :meta,
    failover: false, # A slot comes back, so no other server may get its keys.
    down_retry_delay: 0,
    socket_timeout: 0.5
  )
end
