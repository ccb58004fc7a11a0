import { expect, it } from 'vitest';
import { podNetworkEntryJson } from '../../api/annotations/pod-networks.ts';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseNetConf } from '../../api/net-conf.ts';
import { networkOfNetConf } from '../../api/network.ts';
import { podNetworkEntry } from '../../api/pod-network-entry.ts';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { parseNetworkId, parsePortKey } from '../../net/ids.ts';
import { parseIp } from '../../net/ip.ts';
import { netConf } from '../testing/objects.ts';
import { mostBytes } from './entry-size.ts';

const LONG_V6 = 'fd00:1111:2222:3333:4444:5555:6666';
const cluster = parseClusterConfig({ serviceSubnets: `172.16.100.0/24,${LONG_V6}:0/112` });

it.each([
  ['primary', 0],
  ['secondary', 16],
] as const)('no entry of a %s network is larger than what is counted for it', (role, gateways) => {
  const nadKey = `${'n'.repeat(63)}/${'a'.repeat(253)}/31`;
  const fields = { role, subnets: `100.200.0.0/16,${LONG_V6}:0/112` };
  const join = role === 'primary' ? { joinSubnet: `100.166.0.0/16,fd99:1111:2222:3333::/64` } : {};
  const conf = parseNetConf(JSON.stringify(netConf('ns/n', 'net', { ...fields, ...join })), {
    namespace: 'ns',
    name: 'n',
  });
  if (conf === undefined) throw new Error('no network of ours');
  const network = networkOfNetConf(conf, cluster);
  const requestedGateways = Array.from({ length: gateways }, (_, n) => parseIp(`${LONG_V6}:${1000 + n}`));
  const entry = podNetworkEntry({
    network,
    cluster,
    role,
    addresses: [parseInterfaceAddress('100.200.100.200/16'), parseInterfaceAddress(`${LONG_V6}:7777/112`)],
    tunnelId: parsePortKey(32_767),
    requestedGateways,
  });
  const bytes = JSON.stringify({ [nadKey]: podNetworkEntryJson(entry) }).length + 'k8s.ovn.org/pod-networks'.length;
  const counted = mostBytes(
    {
      nadKey,
      record: { name: 'net', network, keys: { id: parseNetworkId(1), tunnelKeys: [] } },
      role,
      request: { ips: [] },
      claim: undefined,
      requestedGateways,
      defaultRouteElsewhere: [],
    },
    cluster,
  );
  expect(bytes).toBeLessThanOrEqual(counted);
  expect(33 * counted).toBeLessThan(128 * 1024);
});
