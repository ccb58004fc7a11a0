/** The field manager of all that is no status of a network: those have field managers of their own. */
export const FIELD_MANAGER = 'udn-cluster-manager';
