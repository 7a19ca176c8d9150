//go:build tools

// Package programs names what is built, so that `go mod tidy` keeps what it needs.
package programs

import _ "go.etcd.io/etcd/server/v3"
