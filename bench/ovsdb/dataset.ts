/** What the benchmarks have in the northbound database: switches with many ports, as pods make them. */
import type { Operation } from '../../ovsdb/index.ts';

export const SENTINEL = 'the last one';

/** One transaction per switch. */
export const switches = (count: number, portsOfEach: number): Operation[][] =>
  Array.from({ length: count }, (_, index) => {
    const ports = Array.from({ length: portsOfEach }, (_unused, port) => portName(index, port));
    return [
      {
        op: 'insert',
        table: 'Logical_Switch',
        row: {
          name: `node${index}`,
          other_config: [
            'map',
            [
              ['subnet', `10.${index}.0.0/16`],
              ['mcast_snoop', 'true'],
            ],
          ],
          ports: ['set', ports.map((_name, port) => ['named-uuid', `p${port}`])],
        },
      },
      ...ports.map((name, port) => insertPort(name, index, port, `p${port}`)),
    ];
  });

/** A pod comes, changes and goes, again and again; each step is a transaction. */
export const podEvents = (count: number, switchCount: number): Operation[][] =>
  Array.from({ length: count }, (_, step) => {
    const index = Math.floor(step / 4) % switchCount;
    const name = `new${Math.floor(step / 4)}`;
    const where = [['name', '==', name]] as const;
    const onSwitch = [['name', '==', `node${index}`]] as const;
    switch (step % 4) {
      case 0:
        return [
          insertPort(name, index, step, 'p'),
          {
            op: 'mutate',
            table: 'Logical_Switch',
            where: onSwitch,
            mutations: [['ports', 'insert', ['set', [['named-uuid', 'p']]]]],
          },
        ];
      case 1:
        return [{ op: 'update', table: 'Logical_Switch_Port', where, row: { up: true } }];
      case 2:
        return [
          {
            op: 'mutate',
            table: 'Logical_Switch_Port',
            where,
            mutations: [['external_ids', 'insert', ['map', [['seen', String(step)]]]]],
          },
        ];
      default:
        return [
          {
            op: 'update',
            table: 'Logical_Switch_Port',
            where,
            row: { addresses: ['set', [`0a:58:0a:00:00:01 10.0.0.${step % 250}`]] },
          },
        ];
    }
  });

export const lastEvent: readonly Operation[] = [{ op: 'insert', table: 'Logical_Switch', row: { name: SENTINEL } }];

const portName = (index: number, port: number): string => `namespace-${index}_pod-${port}-7d9c5b6f4d`;

const insertPort = (name: string, index: number, port: number, uuidName: string): Operation => {
  const address = `0a:58:0a:${hex(index)}:${hex(port >> 8)}:${hex(port)} 10.${index}.${(port >> 8) & 255}.${port & 255}`;
  return {
    op: 'insert',
    table: 'Logical_Switch_Port',
    'uuid-name': uuidName,
    row: {
      name,
      addresses: ['set', [address]],
      port_security: ['set', [address]],
      options: [
        'map',
        [
          ['requested-chassis', `node${index}`],
          ['iface-id-ver', `${index}-${port}`],
        ],
      ],
      external_ids: [
        'map',
        [
          ['namespace', `namespace-${index}`],
          ['pod', 'true'],
          ['k8s.ovn.org/nad', 'default'],
        ],
      ],
    },
  };
};

const hex = (value: number): string => (value & 255).toString(16).padStart(2, '0');
