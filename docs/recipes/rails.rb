# config/environments/production.rb
Rails.application.configure do
  config.cache_store = :mem_cache_store,
                       'shop-0.shop-slots.team.svc:11211',
                       'shop-1.shop-slots.team.svc:11211',
                       'shop-2.shop-slots.team.svc:11211',
                       {
                         protocol: :meta, # the default of dalli 5; dalli 3 and 4 have the binary protocol
                         failover: false, # A slot comes back, so no other server may get its keys.
                         down_retry_delay: 0,
                         socket_timeout: 0.5
                       }
end
