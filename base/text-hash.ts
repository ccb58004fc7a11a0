/** Nobody outside may know which texts collide: tenants choose names. */
const SEED = (Math.random() * 0x1_0000_0000) | 0;

/** FNV-1a, and the last mixing of MurmurHash3, as the lower bits are what counts. Another one in each process. */
export const textHash = (text: string): number => {
  let hash = SEED;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
};
