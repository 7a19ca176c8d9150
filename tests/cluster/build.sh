#!/usr/bin/env bash
# Builds a control plane from Go modules: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok, which plays the kubelets. About 15 minutes
# on two processors, once: the programs stay in the cache of the user, in a folder named after the versions. modules/*/go.mod pin those.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$1
mkdir -p "$target"
export CGO_ENABLED=0 GOFLAGS="-mod=mod -buildvcs=false -trimpath ${GOFLAGS:-}"

version() { (cd "$here/modules/$1" && go list -m -f '{{.Version}}' "$2"); }

# build NAME MODULE PACKAGE [FLAGS OF THE LINKER]: written under another name first, so that a build that was interrupted leaves no half program.
build() {
  [ -x "$target/$1" ] && return
  echo "building $1" >&2
  (cd "$here/modules/$2" && go build -ldflags "-s -w ${4:-}" -o "$target/.$1" "$3")
  mv "$target/.$1" "$target/$1"
}

kubernetes=$(version kubernetes k8s.io/kubernetes)
minor=${kubernetes#v1.}
stamp="-X k8s.io/component-base/version.gitVersion=$kubernetes -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}"
for program in kube-apiserver kube-controller-manager kube-scheduler; do
  build "$program" kubernetes "k8s.io/kubernetes/cmd/$program" "$stamp"
done
build etcd etcd go.etcd.io/etcd/server/v3
build kwok kwok sigs.k8s.io/kwok/cmd/kwok

# kwok's own description of how nodes and pods come to life.
stages=$(cd "$here/modules/kwok" && go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
  echo ---
  cat "$stages/$stage.yaml"
done >"$target/stages.yaml"
