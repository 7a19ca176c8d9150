//go:build tools

// Package programs names what is built, so that `go mod tidy` keeps what it needs.
package programs

import _ "sigs.k8s.io/kwok/cmd/kwok"
