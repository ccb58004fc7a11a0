import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { NamespaceFact } from '../model/facts.ts';

export const projectNamespace = ({ metadata: { name, labels = {} } }: KubeObject): NamespaceFact => ({
  name,
  wantsPrimaryNetwork: PRIMARY_NETWORK_LABEL in labels,
});
