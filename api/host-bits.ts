/** Subnets that are written with host bits, which their networks do without: said to who wrote them. Pure. */
import { parseInterfaceAddress, parseMaskedCidr } from '../net/cidr.ts';
import { NetError } from '../net/errors.ts';

/**
 * In the spec of a UserDefinedNetwork, or the network of a ClusterUserDefinedNetwork. Fields that refuse host bits have none.
 * @param path of the spec, for messages
 */
export const hostBitsIn = (spec: unknown, path: string): readonly string[] => {
  if (typeof spec === 'string') return path.includes('ubnets') ? hostBitsOf(spec, path) : [];
  if (Array.isArray(spec)) return spec.flatMap((item, index) => hostBitsIn(item, `${path}[${index}]`));
  if (typeof spec !== 'object' || spec === null) return [];
  return Object.entries(spec).flatMap(([key, value]) => hostBitsIn(value, `${path}.${key}`));
};

const hostBitsOf = (text: string, path: string): readonly string[] => {
  try {
    const network = parseMaskedCidr(text);
    const canonical: string = parseInterfaceAddress(text);
    return canonical === network ? [] : [`${path}: "${text}" has host bits set, the network is ${network}`];
  } catch (error) {
    // What is no CIDR is refused by the rules of its field.
    if (error instanceof NetError) return [];
    throw error;
  }
};
