/**
 * Identity of rows without a name of their own: their owner and purpose, in `external_ids`, and once more in one line under
 * `k8s.ovn.org/id`. Port groups and address sets are named by a hash of that line, as OVN limits their names.
 */

export interface DatabaseId {
  /** The `k8s.ovn.org/id` line. */
  readonly id: string;
  readonly externalIds: Readonly<Record<string, string>>;
}

/**
 * @param controller of the network, see `controllerName`
 * @param ownerType for example `UDNIsolation`
 * @param keys in the order that the owner type defines; names are written as they are into `external_ids`
 */
export const databaseId = (
  controller: string,
  ownerType: string,
  keys: Readonly<Record<string, string>>,
): DatabaseId => {
  const id = [controller, ownerType, ...Object.values(keys)].join(':');
  return {
    id,
    externalIds: {
      'k8s.ovn.org/owner-controller': controller,
      'k8s.ovn.org/owner-type': ownerType,
      ...keys,
      'k8s.ovn.org/id': id,
    },
  };
};

/** `a` and the decimal 64-bit FNV-1a hash of the id: what OVN accepts as the name of a port group or address set. */
export const hashedName = (id: string): string => `a${fnv1a64(new TextEncoder().encode(id))}`;

const fnv1a64 = (bytes: Uint8Array): bigint => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
};
