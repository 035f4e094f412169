// What the Go clients share, for modules whose requirements must stay apart: it has none.
module github.com/example-inc/memcached-operator/test/clients/load

go 1.26.6
