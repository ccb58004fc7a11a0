/** How much the API server still takes of an object's annotations: keys and values, all together. */

/** TotalAnnotationSizeLimitB of k8s.io/apimachinery. */
export const TOTAL_ANNOTATIONS_BYTES = 256 * 1024;

/** More than the entries of all networks that a pod can have, with the longest names. */
const AMPLE = 128 * 1024;

/** Bytes; undefined: more than anybody needs, which is so with nearly all objects and stays so when annotations change. */
export const annotationRoom = (annotations: Readonly<Record<string, string>>): number | undefined => {
  const entries = Object.entries(annotations);
  const units = entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  // A unit of UTF-16 has three bytes at most.
  if (units * 3 <= TOTAL_ANNOTATIONS_BYTES - AMPLE) return undefined;
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return bytes <= TOTAL_ANNOTATIONS_BYTES - AMPLE ? undefined : TOTAL_ANNOTATIONS_BYTES - bytes;
};
