/**
 * ICMP errors between networks of a node: who sends to another network's external address hears of them, and what pods make up gets
 * to no other network.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { applyAndWait } from '../support/cluster/cluster.ts';
import { pod } from '../support/cluster/manifests.ts';
import { TENANTS, type Tenant, tenantManifests } from '../support/cluster/one-of-each.ts';
import {
  addressTargets,
  answeredBy,
  type EntryPoints,
  entryPointsOf,
  fromPod,
  publicService,
  whoAnswers,
} from '../support/services/entry-points.ts';
import { idOf, masqueradeAddressesOf } from '../support/state/gone-networks.ts';

export const serviceErrors = (cluster: () => Sandbox): void => {
  const NODE = 'node-1';
  const EMPTY = (tenant: Tenant): EntryPoints => ({ ...entryPointsOf(TENANTS.indexOf(tenant)), ingress: [] });
  const client = (tenant: Tenant): string => `${tenant}/${tenant}-client`;

  beforeAll(async () => {
    await applyAndWait(cluster(), [
      ...tenantManifests(),
      ...TENANTS.flatMap((tenant) => [
        publicService(tenant, 'empty', 'nobody', EMPTY(tenant)),
        pod(tenant, `${tenant}-client`, NODE),
      ]),
    ]);
  }, 120_000);

  /** Packets that came out of any network's gateway router as ICMP errors for another network. */
  const passed = async (): Promise<number> => {
    const { stdout } = await cluster().node(NODE, ['ovs-ofctl', '--names', 'dump-flows', 'br-ex', 'table=0']);
    const flows = stdout.split('\n').filter((line) => line.includes('priority=125,'));
    expect(flows.length).toBeGreaterThan(0);
    return flows.reduce((sum, line) => sum + Number(/n_packets=(\d+)/.exec(line)?.[1]), 0);
  };

  describe.each(TENANTS)('a pod of %s', (tenant) => {
    const others = TENANTS.filter((one) => one !== tenant);

    it('makes up ICMP errors that reach no other network', async () => {
      const ids = await Promise.all((['red', 'green'] as const).map((one) => idOf(cluster(), one)));
      const before = await passed();
      const sent = await fromPod(cluster(), client(tenant))(
        ['python3', '-c', FORGE, ...[...ids, Math.max(...ids) + 1].flatMap(masqueradeAddressesOf)],
        { input: '' },
      );
      expect(sent.stdout.trim()).toBe('36');
      // What came through would be counted by now: refusals of its own Service are, which come after it.
      for (const other of others) await whoAnswers(fromPod(cluster(), client(other)), addressTargets(EMPTY(tenant)));
      await eventually(async () => expect(await passed()).toBeGreaterThan(before));
      const refusals = 2 * others.length;
      expect(await passed()).toBeLessThanOrEqual(before + refusals);
    });

    it.each(others)('is refused at once at an external address of %s without endpoints, also by UDP', async (other) => {
      const targets = addressTargets(EMPTY(other));
      await eventually(async () =>
        expect(await whoAnswers(fromPod(cluster(), client(tenant)), targets)).toEqual(
          answeredBy(targets, ['(refused)']),
        ),
      );
    });
  });
};

/**
 * Three errors to each address given: that a port, a host, or a larger packet does not get there, about UDP which that address has
 * sent to an address outside. Prints how many were sent.
 */
const FORGE = `
import ipaddress, socket, struct, sys
def checksum(data):
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total >> 16: total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
udp = struct.pack('!HHHH', 40000, 53, 8, 0)
sent = 0
for text in sys.argv[1:]:
    ip = ipaddress.ip_address(text)
    if ip.version == 4:
        inner = struct.pack('!BBHHHBBH', 0x45, 0, 28, 1, 0, 60, 17, 0) + ip.packed + bytes([8, 8, 8, 8]) + udp
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        for kind, code in ((3, 3), (3, 1), (3, 4)):
            head = struct.pack('!BBHI', kind, code, 0, 1200)
            head = struct.pack('!BBHI', kind, code, checksum(head + inner), 1200)
            raw.sendto(head + inner, (text, 0)); sent += 1
    else:
        outside = ipaddress.ip_address('2001:db8::53').packed
        inner = struct.pack('!IHBB', 0x60000000, 8, 17, 60) + ip.packed + outside + udp
        raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        for kind, code in ((1, 4), (1, 3), (2, 0)):
            raw.sendto(struct.pack('!BBHI', kind, code, 0, 1300) + inner, (text, 0, 0, 0)); sent += 1
print(sent)
`;
