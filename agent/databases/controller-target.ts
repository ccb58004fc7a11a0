/**
 * Lets ovn-controller connect to br-int at once. After a lost connection it waits a second before it tries, and twice as long
 * each time up to eight (`rconn_create` of OVS' lib/rconn.c); br-int drops everything meanwhile. Only a new target makes it
 * connect at once, and one socket has two names: `external_ids:ovn-bridge-remote` of ovn-controller(8), or none. Versions that
 * do not know the key connect when they would have.
 */
import { RUN_DIRECTORY } from '../../datapath/openflow/socket-watch.ts';
import type { Operation } from '../../ovsdb/transact/operation.ts';
import { INTEGRATION_BRIDGE } from '../model/host-names.ts';

const KEY = 'ovn-bridge-remote';
/** The default, in other words. */
const OTHER_NAME = `unix:${RUN_DIRECTORY}/./${INTEGRATION_BRIDGE}.mgmt`;

type ExternalIds = Readonly<Record<string, string>>;

/** Nothing where somebody else has said what it connects to. Pure. */
export const reconnectOperations = (ids: ExternalIds): Operation[] => {
  if (ids[KEY] === OTHER_NAME) return restoreOperations(ids);
  return ids[KEY] === undefined ? [change('insert')] : [];
};

/** Leaves the default, as it was found. Pure. */
export const restoreOperations = (ids: ExternalIds): Operation[] => (ids[KEY] === OTHER_NAME ? [change('delete')] : []);

/** Deleting an entry with its value does nothing when it has another one, and inserting does not overwrite one. */
const change = (mutator: 'insert' | 'delete'): Operation => ({
  op: 'mutate',
  table: 'Open_vSwitch',
  where: [],
  mutations: [['external_ids', mutator, ['map', [[KEY, OTHER_NAME]]]]],
});
