# Images of the programs, and of Open vSwitch with OVN. `make images` builds all of them; with a container engine also
#
#   docker build --target udn-agent --tag udn-agent:0.1.0 .
#   docker buildx build --platform linux/amd64,linux/arm64 --target udn-agent .
#
# Without an engine tools/images/ makes the same images from this file: it reads COPY, LABEL, USER, ENTRYPOINT and the packages after
# `apt-get install`, and does nothing else of RUN. Packages and npm bring programs of the architecture that is built for.
# The layout below /opt/ovn-udn is that of this repository, so that the scripts of bin/ work as they are.
# For builds that can be repeated, give BASE with a digest.
ARG BASE=debian:13-slim

FROM ${BASE} AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates gcc libc6-dev musl-tools npm \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/ovn-udn
COPY package.json package-lock.json .npmrc ./
# Brings Node 24, too. Not `npm ci`: see docs/adr/0002-install-without-npm-ci.md. The lock file decides the versions.
RUN npm install --no-save --silent
COPY . .
# What udn_agent_build_info says: --build-arg COMMIT=$(git rev-parse --short=12 HEAD)
ARG COMMIT=unknown
RUN UDN_COMMIT=${COMMIT} npm run --silent build

FROM ${BASE} AS labelled
LABEL org.opencontainers.image.title="ovn-udn" \
  org.opencontainers.image.description="User-defined networks for Kubernetes on OVN and OVS" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /opt/ovn-udn
COPY LICENSE ./

FROM labelled AS runtime
COPY --from=build /opt/ovn-udn/node_modules/node/bin/node node_modules/node/bin/node

# Root: it makes links and writes to the sockets of OVS. udnctl is there for `kubectl exec`. The packages bring ovs-ofctl and
# ovs-appctl, ovn-trace, nft, conntrack, tcpdump, and ip, which lists what is encrypted; ping and curl are for people.
FROM runtime AS udn-agent
RUN apt-get update \
  && apt-get install -y --no-install-recommends openvswitch-common ovn-common nftables conntrack iproute2 iputils-ping curl tcpdump \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/ovn-udn/bin/udn-agent /opt/ovn-udn/bin/udnctl bin/
COPY --from=build /opt/ovn-udn/dist/udn-agent.mjs /opt/ovn-udn/dist/udn-agent.cjs /opt/ovn-udn/dist/netlink-worker.mjs /opt/ovn-udn/dist/udnctl.mjs dist/
COPY --from=build /opt/ovn-udn/build/udn-cni /opt/ovn-udn/build/udn-agent.code /opt/ovn-udn/build/nlsock.node /opt/ovn-udn/build/peercred.node /opt/ovn-udn/build/memory.node /opt/ovn-udn/build/lock.node /opt/ovn-udn/build/spawn.node build/
ENTRYPOINT ["/opt/ovn-udn/bin/udn-agent"]

FROM runtime AS udn-cluster-manager
COPY --from=build /opt/ovn-udn/bin/udn-cluster-manager bin/
COPY --from=build /opt/ovn-udn/dist/udn-cluster-manager.mjs /opt/ovn-udn/dist/udn-cluster-manager.cjs dist/
COPY --from=build /opt/ovn-udn/build/udn-cluster-manager.code /opt/ovn-udn/build/memory.node build/
USER 65532:65532
ENTRYPOINT ["/opt/ovn-udn/bin/udn-cluster-manager"]

# For `udnctl render`, which asks nobody. On a node, use the one in the agent's image.
FROM runtime AS udnctl
COPY --from=build /opt/ovn-udn/bin/udnctl bin/
COPY --from=build /opt/ovn-udn/dist/udnctl.mjs dist/
USER 65532:65532
ENTRYPOINT ["/opt/ovn-udn/bin/udnctl"]

# The daemons of a node, one in each container: Open vSwitch 3.5 and OVN 25.03 of Debian 13. daemonset/ovn/ runs it.
# Root: ovs-vswitchd makes links, and all of them write to folders of the node that its packages, where it has any, write to as root.
FROM labelled AS udn-ovn
RUN apt-get update \
  && apt-get install -y --no-install-recommends openvswitch-switch ovn-central ovn-host iproute2 \
  && rm -rf /var/lib/apt/lists/*
COPY bin/ovn-daemon bin/
ENTRYPOINT ["/opt/ovn-udn/bin/ovn-daemon"]
