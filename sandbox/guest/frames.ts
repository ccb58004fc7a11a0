/** The one frame of sandbox/toolbox/guest.h that is written here: the others are between `guest-run` and `guest-serve`. */

const CONNECT = 'C'.charCodeAt(0);
const HEAD = 5;

/** Makes the stream after it that of a unix socket in the guest. */
export const connectFrame = (path: string): Buffer => {
  const content = Buffer.from(path);
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(CONNECT, 0);
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
};
