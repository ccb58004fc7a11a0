/**
 * A table or column that is written and not read back is silently never compared: this test names a feature that begins to
 * write one.
 */
import { expect, it } from 'vitest';
import { createNorthboundReplica } from '../../../agent/databases/northbound.ts';
import { createSouthboundReplica } from '../../../agent/databases/southbound.ts';
import { createVswitchReplica } from '../../../agent/databases/vswitch.ts';
import type { DocumentTables, RenderDocument } from '../../../agent/render/document.ts';
import { serviceCluster } from '../../../agent/testing/service-cluster.ts';
import type { MonitorRequests } from '../../../ovsdb/session/monitor-sink.ts';
import { VARIANTS, workedCluster } from './worked-cluster.ts';

/** Also another node with a tunnel, pods of both roles, and Services with all that a balancer can have. */
const populated = (): RenderDocument =>
  serviceCluster()
    .node('node2', { id: 3, transit: ['100.88.0.3/16'], encapIps: ['172.30.0.3'] })
    .service('plain/web', { ips: ['172.16.1.8'], ports: ['TCP/80@30080', 'UDP/53'], affinitySeconds: 60 })
    .slices('plain/web', { ports: ['TCP/8080', 'UDP/53'], ready: ['10.128.0.3'] })
    .pod('plain/a', { node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } })
    .pod('red/a', {
      node: 'node1',
      networks: { default: { ips: ['10.128.0.4/23'] }, 'red/net': { ips: ['10.70.0.3/24'], role: 'primary' } },
    })
    .pod('green/a', {
      node: 'node1',
      networks: {
        default: { ips: ['10.128.0.5/23'] },
        'green/net': { ips: ['10.71.0.3/16'], role: 'primary', tunnelId: 10 },
      },
    })
    .render();

const DOCUMENTS = [...VARIANTS.map((variant) => workedCluster(variant).render()), populated()];

it.each([
  ['northbound', createNorthboundReplica()],
  ['southbound', createSouthboundReplica()],
  ['openvswitch', createVswitchReplica()],
] as const)('every column of the %s database that features write is mirrored', (database, replica) => {
  const mirrored = columnsOf(replica.prepare(replica.store.model));
  const written = new Set(DOCUMENTS.flatMap((document) => writtenIn(document[database])));
  expect(written.size).toBeGreaterThan(0);
  expect([...written.difference(mirrored)].sort()).toEqual([]);
});

const columnsOf = (requests: MonitorRequests): ReadonlySet<string> =>
  new Set(
    Object.entries(requests).flatMap(([table, parts]) =>
      parts.flatMap(({ columns }) => columns.map((column) => `${table}.${column}`)),
    ),
  );

const writtenIn = (tables: DocumentTables): string[] =>
  Object.entries(tables).flatMap(([table, rows]) =>
    rows.flatMap((row) => Object.keys(row).map((column) => `${table}.${column}`)),
  );
