/** Ports of logical routers and switches, each with its place in the router or switch. */
import type { InterfaceAddress } from '../../../../net/cidr.ts';
import type { Mac } from '../../../../net/mac.ts';
import { type DesiredColumns, type DesiredFragment, rowRef } from '../../../../ovsdb/desired/types.ts';
import type { OvnNorthbound } from '../../../../ovsdb/models/ovn-northbound.gen.ts';
import { routerKey, routerPortKey, switchKey, switchPortKey } from '../../../model/row-keys.ts';

type Northbound = DesiredFragment<OvnNorthbound>;
type ExternalIds = Readonly<Record<string, string>>;

export interface RouterPort {
  readonly name: string;
  readonly mac: Mac;
  readonly networks: readonly InterfaceAddress[];
  readonly options?: Readonly<Record<string, string>>;
  /** The router port at the other end, where no switch is between. */
  readonly peer?: string;
  readonly externalIds?: ExternalIds;
}

export const routerPort = (
  router: string,
  { name, mac, networks, options = {}, peer, externalIds = {} }: RouterPort,
): Northbound => portOfRouter(router, { name, mac, networks, options, peer, external_ids: externalIds });

/** With these columns and no others. */
export const portOfRouter = (
  router: string,
  { name, ...columns }: { readonly name: string } & DesiredColumns<OvnNorthbound['Logical_Router_Port']>,
): Northbound => ({
  rows: [{ table: 'Logical_Router_Port', key: routerPortKey(name), columns: { name, ...columns } }],
  members: [{ table: 'Logical_Router', row: routerKey(router), column: 'ports', value: rowRef(routerPortKey(name)) }],
});

/** @param needs keys of rows without which the port must not be */
export const switchPort = (
  onSwitch: string,
  { name, ...columns }: { readonly name: string } & DesiredColumns<OvnNorthbound['Logical_Switch_Port']>,
  needs: readonly string[] = [],
): Northbound => ({
  rows: [
    {
      table: 'Logical_Switch_Port',
      key: switchPortKey(name),
      columns: { name, ...columns },
      ...(needs.length > 0 && { needs }),
    },
  ],
  members: [{ table: 'Logical_Switch', row: switchKey(onSwitch), column: 'ports', value: rowRef(switchPortKey(name)) }],
});

/**
 * Of a localnet port. ovn-northd copies the request to `tag` and never takes it back: without our own value there, a port that is
 * untagged now would stay on its VLAN.
 * @param vlanId undefined: untagged
 */
export const vlanTag = (vlanId: number | undefined): DesiredColumns<OvnNorthbound['Logical_Switch_Port']> => ({
  tag_request: vlanId,
  tag: vlanId,
});

/** The switch's end of a link to a router. */
export const portToRouter = (
  onSwitch: string,
  name: string,
  toRouterPort: string,
  externalIds: ExternalIds = {},
): Northbound =>
  switchPort(onSwitch, {
    name,
    type: 'router',
    addresses: ['router'],
    options: { 'router-port': toRouterPort },
    external_ids: externalIds,
  });
