/** Where routers are on the switches between them, as the node's OVN has it. */
import { z } from 'zod';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { addressOf, cidrContainsIp, parseInterfaceAddress } from '../../../net/cidr.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { TENANTS } from './cast.ts';
import { DEFAULT_TENANT, type KnownRouterPort } from './world.ts';

/** RFC 7047 §5.1: a set of one is its element. */
const setSchema = z.union([
  z.tuple([z.literal('set'), z.array(z.string())]).transform(([, items]) => items),
  z.string().transform((item) => [item]),
]);
const tableSchema = z.object({ data: z.array(z.tuple([z.string(), z.string(), setSchema])) });

export const readRouterPorts = async (sandbox: Sandbox, node: string): Promise<readonly KnownRouterPort[]> => {
  const argv = ['ovn-nbctl', '--format=json', '--columns=name,mac,networks', 'list', 'Logical_Router_Port'];
  const { data } = tableSchema.parse(JSON.parse((await sandbox.node(node, argv)).stdout));
  const { joinSubnets, udnJoinSubnets, transitSubnets } = parseClusterConfig();
  const between = [...joinSubnets, ...udnJoinSubnets, ...transitSubnets];
  return data.flatMap(([name, mac, networks]) => {
    const ips = networks.map((text) => addressOf(parseInterfaceAddress(text)));
    const addresses = ips.filter((ip) => between.some((subnet) => cidrContainsIp(subnet, ip)));
    const tenant = TENANTS.find((one) => name.includes(`${one}_net_`)) ?? DEFAULT_TENANT;
    return addresses.length === 0 ? [] : [{ name: `${name} of ${node}`, mac, tenant, addresses }];
  });
};
