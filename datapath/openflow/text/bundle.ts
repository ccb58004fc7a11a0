/** What `ovs-ofctl bundle` reads. */
import type { BundleOp } from '../switch-client.ts';
import { formatFlow } from './flow.ts';

/** One line for each. */
export const formatBundle = (ops: readonly BundleOp[]): string => ops.map((op) => `${formatOp(op)}\n`).join('');

const formatOp = (op: BundleOp): string => {
  switch (op.op) {
    case 'addFlow':
      return `flow add ${formatFlow(op.flow)}`;
    case 'deleteFlow':
      return `flow delete_strict ${op.identity}`;
    case 'addGroup':
      return `group add group_id=${op.group},type=all`;
    case 'resetGroup':
      return `group modify group_id=${op.group},type=all`;
    case 'deleteGroup':
      return `group delete group_id=${op.group}`;
    case 'insertBucket':
      return `group insert_bucket group_id=${op.group},command_bucket_id=last,${formatBucket(op)}`;
    case 'removeBucket':
      return `group remove_bucket group_id=${op.group},command_bucket_id=${op.bucket}`;
  }
};

export const formatBucket = ({ bucket, actions }: { readonly bucket: number; readonly actions: string }): string =>
  `bucket=bucket_id=${bucket},actions=${actions}`;
