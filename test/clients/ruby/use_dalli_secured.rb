require 'dalli'
require 'openssl'

def connect(servers, certificate_authority)
  tls = OpenSSL::SSL::SSLContext.new
  tls.set_params(ca_file: certificate_authority, verify_hostname: true)
  Dalli::Client.new(
    servers, # ['shop-0.shop-slots.team.svc:11212', ...]: these names are in the certificate
    ssl_context: tls,
    protocol: :meta,
    failover: false, # A slot comes back, so no other server may get its keys.
    down_retry_delay: 0,
    socket_timeout: 0.5
  )
end
