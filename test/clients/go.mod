module github.com/example-inc/memcached-operator/test/clients

go 1.26.6

require (
	github.com/bradfitz/gomemcache v0.0.0-20260422231931-4d751bb6e37c
	github.com/example-inc/memcached-operator/test/clients/load v0.0.0
)

replace github.com/example-inc/memcached-operator/test/clients/load => ./load
