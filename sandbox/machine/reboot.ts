/** A node loses its power and comes up again. */
import { CONTAINER_FOLDER, EXEC_FOLDER, MOUNT_FOLDER, SANDBOX_FOLDER } from '../kubelet/paths.ts';
import { UPLINK } from '../plan/links.ts';
import { run } from '../process/run.ts';
import type { Service } from '../process/service.ts';
import { type NodeServicesSpec, restartNodeServices } from './node-services.ts';

/** @param services all that run on it */
export const reboot = async (
  spec: NodeServicesSpec,
  services: readonly Service[],
  signal: AbortSignal,
): Promise<void> => {
  await Promise.all(services.map((service) => service.hold()));
  await run(spec.node.enter(['sh', '-c', FORGET]), undefined, signal);
  if (spec.hasRuntime) await run(spec.node.enter(['sh', '-c', FORGET_CONTAINERS]), undefined, signal);
  await restartNodeServices(spec, services, signal);
  for (const service of services) service.release();
};

/**
 * What a kernel that boots does not have: processes, other links than the NIC, addresses, routes and rules of people,
 * nftables; and what is on file systems that are in memory. The kernel's own rules, ip-rule(8), are put back.
 */
const FORGET = `
kill -9 -1
for dp in $(ovs-dpctl dump-dps 2>/dev/null); do ovs-dpctl del-dp "$dp"; done
for netns in /run/netns/*; do umount "$netns"; rm -f "$netns"; done 2>/dev/null
for link in $(ls /sys/class/net); do
  case $link in lo|${UPLINK}) ;; *) ip link delete "$link" ;; esac
done 2>/dev/null
ip addr flush dev ${UPLINK}
nft flush ruleset
ip xfrm state flush
ip xfrm policy flush
for family in -4 -6; do
  ip $family route flush table all proto 85
  ip $family rule flush
  ip $family rule add lookup main priority 32766
done 2>/dev/null
ip -4 rule add lookup default priority 32767
rm -rf /run/charon* /run/starter* /run/openvswitch/* /run/ovn/* /run/ovn-udn/* ${CONTAINER_FOLDER} ${EXEC_FOLDER} ${SANDBOX_FOLDER} ${MOUNT_FOLDER}
`;

/**
 * What a container runtime and a kubelet have in memory: mounts of containers and volumes, shims' sockets, cgroups of pods. What they have on disk
 * stays: images, and which pods there were. A cgroup is busy until the kernel has reaped its last process, and a kubelet removes it, too.
 */
const FORGET_CONTAINERS = `
awk '{ print $2 }' /proc/mounts | grep -E '^/(run/containerd|run/netns|var/lib/kubelet/pods)/' | sort -r | while read -r target; do
  umount -l "$target"
done
rm -rf /run/containerd/* /run/crun /run/netns/*
find /sys/fs/cgroup/kubepods -mindepth 2 -depth -type d -exec rmdir {} + 2>/dev/null
true
`;
