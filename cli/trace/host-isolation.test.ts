import { expect, it } from 'vitest';
import { parseListing } from '../../datapath/nftables/parse-listing.ts';
import { parseIp } from '../../net/ip.ts';
import { type HostPacket, hostIsolationOf } from './host-isolation.ts';

/** As nft 1.1 prints it, with the rules of docs/host-isolation.md. */
const KUBELET = '\t\tsocket cgroupv2 level 2 "kubelet.slice/kubelet.service" accept comment "cgroup 4711"\n';
const listing = (kubelet: string): string => `table inet ovn-udn {
\tset udn-pod-default-ips-v4 {
\t\ttype ipv4_addr
\t\telements = { 10.128.0.3 comment "red/a" }
\t}

\tset udn-open-ports-v4 {
\t\ttype ipv4_addr . inet_proto . inet_service
\t\telements = { 10.128.0.3 . tcp . 8080 comment "red/a" }
\t}

\tset udn-open-ports-icmp-v4 {
\t\ttype ipv4_addr
\t}

\tset udn-host-network-pods {
\t\ttype cgroupsv2 . ifname
\t\telements = { "kubepods/pod1" . "ovn-k8s-mp1" comment "red/host cgroup 4711" }
\t}

\tchain udn-isolation {
\t\ttype filter hook output priority 0; policy accept;
\t\tip daddr . meta l4proto . th dport @udn-open-ports-v4 accept
\t\tmeta l4proto icmp ip daddr @udn-open-ports-icmp-v4 accept
\t\tip daddr @udn-pod-default-ips-v4 jump udn-isolation-kubelet
\t\tip daddr @udn-pod-default-ips-v4 meta skuid >= 0 drop
\t\tip daddr @udn-pod-default-ips-v4 ct state established,related accept
\t\tip daddr @udn-pod-default-ips-v4 drop
\t\toifname "ovn-k8s-mp0" jump udn-default-port
\t}

\tchain udn-isolation-kubelet {
${kubelet}\t}

\tchain udn-management-isolation {
\t\ttype filter hook output priority 0; policy accept;
\t\toifname != "ovn-k8s-mp*" return
\t\toifname "ovn-k8s-mp0" return
\t\tjump udn-management-isolation-pods
\t\tct direction reply accept
\t\tmeta skuid >= 0 drop
\t\ticmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } return
\t\tct state established,related accept
\t\tdrop
\t}

\tchain udn-management-isolation-pods {
\t\tsocket cgroupv2 level 2 . oifname @udn-host-network-pods accept
\t}
}
`;

const isolation = (more: Partial<HostPacket> & { readonly to?: string }, kubelet = KUBELET) => {
  const { to = '10.128.0.3', ...packet } = more;
  const whole: HostPacket = {
    destination: parseIp(to),
    protocol: 'tcp',
    port: 80,
    link: 'ovn-k8s-mp0',
    established: false,
    ...packet,
  };
  return hostIsolationOf(parseListing(listing(kubelet)), whole);
};
const dropped = (message: string) => ({ kind: 'dropped', message: `dropped by host isolation ${message}` });

it('only the kubelet reaches the default-network address of a pod with a primary network', () => {
  expect(isolation({})).toEqual(dropped('(nft chain udn-isolation) unless the kubelet sends it'));
  expect(isolation({ established: true })).toEqual(dropped('(nft chain udn-isolation) unless the kubelet sends it'));
  expect(isolation({}, '')).toEqual(
    dropped('(nft chain udn-isolation), from any process: the cgroup of the kubelet is unknown'),
  );
  expect(isolation({ to: '10.128.0.4' })).toEqual({ kind: 'passes' });
});

it('open ports are for everybody, others of the same pod are not', () => {
  expect(isolation({ port: 8080 })).toEqual({
    kind: 'passes',
    why: 'host isolation accepts it: tcp port 8080 is open on the pod',
  });
  expect(isolation({ port: 8080, protocol: 'udp' })).toMatchObject({ kind: 'dropped' });
  expect(isolation({ protocol: 'icmp' })).toMatchObject({ kind: 'dropped' });
});

it('a tenant is reached by its management port by its host-network pods alone', () => {
  const to = '10.20.1.3';
  expect(isolation({ to, link: 'ovn-k8s-mp1' })).toEqual(
    dropped('(nft chain udn-management-isolation) unless one of these host-network pods sends it: red/host'),
  );
  expect(isolation({ to, link: 'ovn-k8s-mp2' })).toEqual(
    dropped('(nft chain udn-management-isolation), from any process'),
  );
  expect(isolation({ to, link: 'ovn-k8s-mp2', established: true })).toEqual(
    dropped('(nft chain udn-management-isolation) unless it is a reply'),
  );
  expect(isolation({ to, link: 'br-ex' })).toEqual({ kind: 'passes' });
});

it('what is not in the kernel isolates nobody', () => {
  const packet: HostPacket = {
    destination: parseIp('10.128.0.3'),
    protocol: 'tcp',
    port: 80,
    link: undefined,
    established: false,
  };
  expect(hostIsolationOf(undefined, packet)).toEqual({ kind: 'passes' });
  const chainless = parseListing('table inet ovn-udn {\n\tset udn-pod-default-ips-v4 {\n\t\ttype ipv4_addr\n\t}\n}\n');
  expect(hostIsolationOf(chainless, packet)).toEqual({ kind: 'passes' });
});
