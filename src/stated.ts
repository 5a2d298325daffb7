// Leaves undefined fields out of an object, where an absent field and an undefined one differ: in JSON, and
// where the object overrides defaults.

/** Fields that may be undefined are optional. */
type Stated<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the fields that somebody stated: those that are not undefined. */
export function stated<const T extends object>(fields: T): Stated<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Stated<T>;
}
