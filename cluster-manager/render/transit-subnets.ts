/** Where the transit router of a primary layer-2 network and the gateways of its nodes meet. */
import { ApiError } from '../../api/errors.ts';
import { addressOf, type Cidr, cidrFamily, cidrSize, cidrsOverlap, networkOf, prefixLength } from '../../net/cidr.ts';
import { ipFromBigInt, ipToBigInt } from '../../net/ip.ts';

/**
 * The cluster's transit subnets of the families of the network's own, each moved to the next block of its size while it
 * overlaps what the network uses.
 * @throws ApiError ERR_API_OVERLAP when ten blocks are not enough
 */
export const transitSubnetsFor = (
  clusterTransit: readonly Cidr[],
  subnets: readonly Cidr[],
  joinSubnets: readonly Cidr[],
): readonly Cidr[] => {
  const families = new Set(subnets.map(cidrFamily));
  return clusterTransit
    .filter((transit) => families.has(cidrFamily(transit)))
    .map((transit) => firstFreeBlock(transit, [...subnets, ...joinSubnets]));
};

const MAX_TRIES = 10;

const firstFreeBlock = (start: Cidr, used: readonly Cidr[]): Cidr => {
  let block: Cidr | undefined = start;
  for (let tries = 0; block !== undefined && tries < MAX_TRIES; tries += 1) {
    const candidate: Cidr = block;
    if (!used.some((cidr) => cidrsOverlap(cidr, candidate))) return candidate;
    block = nextBlock(candidate);
  }
  throw new ApiError(
    'ERR_API_OVERLAP',
    `no transit subnet is free beside the subnets of the network: ${MAX_TRIES} blocks from ${start} on overlap ${used.join(', ')}`,
    { field: 'transitSubnet' },
  );
};

/** Undefined behind the last block of the family. */
const nextBlock = (block: Cidr): Cidr | undefined => {
  try {
    const next = ipFromBigInt(cidrFamily(block), ipToBigInt(addressOf(block)) + cidrSize(block));
    return networkOf(next, prefixLength(block));
  } catch {
    return undefined;
  }
};
