/** A value that is there, or will be: a promise for what need not wait costs more than most answers do. */
export type Soon<T> = T | Promise<T>

export function after<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
