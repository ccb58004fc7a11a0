/** What a cell takes of the machine. */
import type { Cell } from './dimensions.ts';
import type { ExpectedCell } from './row.ts';

/** VRFs, OVS's kernel datapath, or SCTP: what a kernel may lack. */
export const needsKernel = ({ cell, row }: ExpectedCell): boolean =>
  cell.protocol === 'SCTP' || (cell.mode === 'local' ? passesVrf(cell) : row.needsKernel === true);

/** In local gateway mode all that tenants send out of their networks, and all that comes to them, but for what their switch does. */
const passesVrf = ({ from, to, owner, endpoints }: Cell): boolean => {
  const byItsSwitch = from === 'pod of the network' && to !== 'node port of another node' && endpoints !== 'nodes';
  return from === 'pod of another tenant' || (owner !== 'default' && !byItsSwitch);
};
