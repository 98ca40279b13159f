"""The judge of the course: builds what a student wrote, runs it, and gives points."""
