export interface Team {
  id: number
  name: string
  createdAt: number
}
