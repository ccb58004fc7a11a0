import { expect, it } from 'vitest';
import { unpatchOperations } from './patch-ports.ts';

type Replica = Parameters<typeof unpatchOperations>[0];

it('takes patch ports of gateways and of localnets, on whichever bridge, and no others', () => {
  const ports: Readonly<Record<string, readonly string[]>> = {
    'br-int': ['patch-br-int-to-br-ex_n1', 'patch-br-int-to-red_ovn_localnet_port', 'patch-br-int-to-lab', 'veth0'],
    'br-ex': ['eth0', 'patch-br-ex_n1-to-br-int', 'patch-red_ovn_localnet_port-to-br-int'],
    'br-dc': ['patch-blue_ovn_localnet_port-to-br-int', 'patch-lab-to-br-int'],
  };
  const rows = (table: 'Bridge' | 'Port') =>
    table === 'Port'
      ? Object.values(ports)
          .flat()
          .map((name) => ({ _uuid: name, name }))
      : Object.entries(ports).map(([name, of]) => ({ name, ports: of }));
  const replica = { rows } as unknown as Replica;
  expect(
    unpatchOperations(replica, 'br-ex').map((operation) => {
      const { where, mutations } = operation as unknown as {
        where: unknown[][];
        mutations: [string, string, [string, string[][]]][];
      };
      return [where[0]?.[2], mutations[0]?.[2][1].map(([, uuid]) => uuid)];
    }),
  ).toEqual([
    ['br-int', ['patch-br-int-to-br-ex_n1', 'patch-br-int-to-red_ovn_localnet_port']],
    ['br-ex', ['patch-br-ex_n1-to-br-int', 'patch-red_ovn_localnet_port-to-br-int']],
    ['br-dc', ['patch-blue_ovn_localnet_port-to-br-int']],
  ]);
});
