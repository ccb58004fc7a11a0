/** Says of this node why nothing is written for it: its name or its identity is that of something else. */
import { EMPTY_FRAGMENT, type FeatureOver } from '../../model/fragment.ts';

export const nodeIdentity: FeatureOver<'zone'> = {
  name: 'node-identity',
  over: 'zone',
  render: (_, view) => {
    const refusal = view.refusedNode(view.node);
    if (refusal === undefined) return EMPTY_FRAGMENT;
    const message = `${refusal}; the node is not programmed`;
    return { diagnostics: [{ object: `Node/${view.node}`, severity: 'error', message, event: 'NodeIdentityInUse' }] };
  },
};
