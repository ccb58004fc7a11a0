/** A node with something of every kind on its NIC, and what is done with it. For tests. */
import type { GatewayOptions } from './types.ts';
import { Uplink, type UplinkState } from './uplink.ts';
import { MASQUERADE, UplinkWorld } from './uplink-world.suite.ts';

export const BRIDGE = 'breth0';

export const newUplink = (
  world: UplinkWorld,
  options: Pick<GatewayOptions, 'interface'> = { interface: undefined },
): Uplink => new Uplink({ options, masqueradeSubnets: MASQUERADE }, world);

/** Two addresses of one network, both families, routes with a metric and a source, a table of its own. */
export const node = (): UplinkWorld =>
  new UplinkWorld()
    .address('172.20.0.11/24')
    .address('172.20.0.12/24')
    .address('fd00:172:20::b/64')
    .route('10.9.0.0/16', '172.20.0.2', { metric: 50 })
    .route('10.8.0.0/16', undefined, { protocol: 4 })
    .route('10.7.0.0/16', '172.20.0.3', { table: 700 })
    .route('fd09::/48', 'fd00:172:20::2')
    .route('0.0.0.0/0', '172.20.0.1', { metric: 100 })
    .route('::/0', 'fd00:172:20::1');

/** Routes and addresses of a link, as words. */
export const on = async (world: UplinkWorld, link: string): Promise<string[]> => {
  const { host } = await world.observe();
  return [
    ...host.addresses.filter((one) => one.link === link && one.scope === 'global').map(({ address }) => address),
    ...host.routes
      .filter(({ dev, protocol }) => dev === link && protocol !== 2)
      .map(({ dst, via, table, metric }) => `${dst} ${via ?? 'link'} ${table} ${metric}`)
      .sort(),
  ];
};

export const ALL = [
  '172.20.0.11/24',
  '172.20.0.12/24',
  'fd00:172:20::b/64',
  '0.0.0.0/0 172.20.0.1 254 100',
  '10.7.0.0/16 172.20.0.3 700 0',
  '10.8.0.0/16 link 254 0',
  '10.9.0.0/16 172.20.0.2 254 50',
  '::/0 fd00:172:20::1 254 1024',
  'fd09::/48 fd00:172:20::2 254 1024',
];

export const takeDefault = (world: UplinkWorld): void => {
  const [gone] = world.kernel
    .netns()
    .routes({ family: 4 })
    .filter(({ dst }) => dst === '0.0.0.0/0');
  if (gone !== undefined) world.apply({ op: 'route.delete', route: gone });
};

export const kindOf = ({ kind }: UplinkState): string => kind;
